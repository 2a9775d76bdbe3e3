#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_python.sh SOURCE_FOLDER SCRIPT ARGS…: runs SCRIPT with $AKO_PYTHON, else the Python of build/venv, else python3.
source_folder=$1
shift
if [ -n "$AKO_PYTHON" ]; then
  python=$AKO_PYTHON
elif [ -x "$source_folder/build/venv/bin/python" ]; then
  python=$source_folder/build/venv/bin/python
else
  python=$(command -v python3) || { echo "skipped: there is no python3"; exit 77; }
fi
exec "$python" "$@"
