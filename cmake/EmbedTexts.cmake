# Writes the files PARTS, with commas between them, of the folder FOLDER as texts into the source OUTPUT. It defines FUNCTION of
# NAMESPACE, which HEADER declares: std::string_view FUNCTION(std::string_view name), empty for other names. Run by cmake -P.
set(text "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\nstd::string_view ${FUNCTION}(std::string_view name) {\n")
string(REPLACE "," ";" PARTS "${PARTS}")
foreach(part ${PARTS})
  file(READ ${FOLDER}/${part} content)
  string(APPEND text "  if (name == \"${part}\")\n    return R\"part(${content})part\";\n")
endforeach()
string(APPEND text "  return {};\n}\n\n} // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
