#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "errors.h"

#include <stdarg.h>

bool raise_status(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyObject *message = PyUnicode_FromFormatV(format, arguments);
  va_end(arguments);
  PyObject *errors = message == NULL ? NULL : PyImport_ImportModule("gfsmith.codec.errors");
  PyObject *error =
      errors == NULL ? NULL : PyObject_CallMethod(errors, "of_status", "iO", status, message);
  if (error != NULL)
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
  Py_XDECREF(errors);
  Py_XDECREF(message);
  return false;
}
