#!/bin/sh
# Makes the environment from the lock and runs the studies that come with the project, like a user: no network after it.
set -eu
cd "$(dirname "$0")/.."
make run
