// Puts the page together.

function reportPage() {
  const memory = report.entries.length ? new MemoryView() : null;
  const parts = [verdictPart(), memory && memory.element, peakPart(), timePart(), new ModelTree().element, settingsPart(), proofsPart(),
                 make("footer", {}, `Made from the plan alone by ${report.plan.producer}.`)];
  document.getElementById("page").append(...parts.filter(part => part));
  if (memory)
    memory.draw(); // now that it has a width
}

if (report.difference) {
  document.title = `${report.from.file} \u2192 ${report.to.file}: trainc report`;
  document.getElementById("page").append(...differencePage());
} else {
  document.title = `${report.plan.name}: trainc report`;
  reportPage();
}
document.documentElement.dataset.ready = "yes";
