# Writes the comma-separated files PARTS of the folder FOLDER as texts into the source file OUTPUT, for page_parts.h.
# Run by cmake -P.
set(text "#include \"tools/report/page_parts.h\"\n\nnamespace trainc::report {\n\nstd::string_view pagePart(std::string_view name) {\n")
string(REPLACE "," ";" PARTS "${PARTS}")
foreach(part ${PARTS})
  file(READ ${FOLDER}/${part} content)
  string(APPEND text "  if (name == \"${part}\")\n    return R\"part(${content})part\";\n")
endforeach()
string(APPEND text "  return {};\n}\n\n} // namespace trainc::report\n")
file(WRITE ${OUTPUT} "${text}")
