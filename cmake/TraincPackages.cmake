# Files of `cmake --install`, and the Debian packages that `cpack` makes of them: trainc (the compiler and its tools), trainrun
# (the runtime, without LLVM), trainc-comm-mpi (the library that trainrun loads for ranks under MPI).
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # tests are no reason to wait

install(TARGETS trainrun COMPONENT trainrun)
install(TARGETS trainc COMPONENT trainc)
if(NOT TRAINC_RUNTIME_ONLY)
  set_target_properties(trainc trainc-check trainc-lsp trainc-opt PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON) # LLVM has a folder of its own
  install(TARGETS trainc-check trainc-lsp trainc-opt COMPONENT trainc)
endif()
set(components trainc trainrun)
if(TARGET trainc_comm_mpi)
  install(TARGETS trainc_comm_mpi DESTINATION lib/trainc COMPONENT mpi) # where trainrun looks for it, seen from bin
  list(APPEND components mpi)
endif()

set(package_trainc trainc)
set(package_trainrun trainrun)
set(package_mpi trainc-comm-mpi)
foreach(component ${components})
  install(FILES LICENSE DESTINATION share/doc/${package_${component}} RENAME copyright COMPONENT ${component})
endforeach()
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION share/doc/trainc COMPONENT trainc)
install(DIRECTORY docs examples DESTINATION share/doc/trainc COMPONENT trainc PATTERN run.sh EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_PACKAGE_CONTACT "The trainc maintainers <maintainers@trainc.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)

set(CPACK_DEBIAN_TRAINC_PACKAGE_NAME ${package_trainc})
set(CPACK_COMPONENT_TRAINC_DESCRIPTION "training compiler
Compiles a model and its training step into a plan, which trainrun executes.
With single passes (trainc-opt), a language server (trainc-lsp), a checker of
ops (trainc-check), pages and examples.")
set(CPACK_DEBIAN_TRAINC_PACKAGE_RECOMMENDS "trainrun (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TRAINRUN_PACKAGE_NAME ${package_trainrun})
set(CPACK_COMPONENT_TRAINRUN_DESCRIPTION "runtime that executes training plans
Trains, evaluates and generates with a plan that trainc made. Needs neither
Python nor LLVM nor the model's code.")
set(CPACK_DEBIAN_TRAINRUN_PACKAGE_SUGGESTS "${package_mpi} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME ${package_mpi})
set(CPACK_COMPONENT_MPI_DESCRIPTION "MPI for trainrun
Lets the ranks of a training run on several hosts, under mpirun or srun.")
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${package_trainrun} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
include(CPack)
