/* devices.c: descriptions of memory (runtime/adaptive/src/device.h); see module.c. */
#include "device.h"

#include "module.h"

/* device(text) -> name, line, buffer, latency, streams, channels */
static PyObject *device(PyObject *module, PyObject *text) {
  (void)module;
  char *bytes, why[160];
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(text, &bytes, &size) != 0)
    return NULL;
  gfs_device read;
  if (!gfs_device_parse(bytes, (size_t)size, &read, why, sizeof why)) {
    PyErr_SetString(PyExc_ValueError, why);
    return NULL;
  }
  return Py_BuildValue("(sIIIII)", read.name, read.line, read.buffer, read.latency, read.streams,
                       read.channels);
}

PyMethodDef device_methods[] = {
    {"device", device, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
