#!/bin/sh
# Fetches the next extract of a source, checks it, updates the registry from it, and raises an alarm
# if any of that fails. The source needs a recipe: its first extract is imported by hand.
#
#   dossier-update.sh SOURCE URL [OPTIONS of dossier update]
#
#   EXTRACTS  where extracts are kept (default: extracts); one folder for each source
#   AS_OF     the day of the extract (default: today, UTC); empty for sources without days
#   ALARM     a command that gets the message on its standard input (default: none)
#   DOSSIER   the program (default: dossier)
#   DOSSIER_DB  the registry, as for every command
#
# Exit codes:
#   0  updated, or the source has nothing new
#   2  wrong arguments
#   3  the extract cannot be fetched: nothing was changed
#   4  the check refuses it, and shows the difference: nothing was changed
#   5  the update failed after the check; kinds of records before the one that failed are imported
#
# By cron, on the second day of each month (one line in the crontab of the user dossier):
#   17 4 2 * *  ALARM='mail -s dossier ops@example.org' DOSSIER_DB=/var/lib/dossier/registry.db EXTRACTS=/var/lib/dossier/extracts DOSSIER=/opt/dossier/current/bin/dossier /opt/dossier/current/contrib/dossier-update.sh nse https://example.org/nse.csv
set -eu

alarm() { # CODE MESSAGE
  printf '%s\n' "$2" >&2
  if [ -n "${ALARM:-}" ]; then
    printf '%s\n' "$2" | sh -c "$ALARM" || printf 'the alarm failed: %s\n' "$ALARM" >&2
  fi
  exit "$1"
}

if [ $# -lt 2 ]; then
  echo 'usage: dossier-update.sh SOURCE URL [OPTIONS of dossier update]' >&2
  exit 2
fi
source=$1
url=$2
shift 2

now=$(date -u +%FT%H%M%S)
as_of=${AS_OF-${now%T*}}
folder=${EXTRACTS:-extracts}/$source
name=$(basename "${url%%[?#]*}")
# An extract never takes the place of another one of the same second.
file=$folder/$now-$$-$name
dossier=${DOSSIER:-dossier}

trap 'rm -f "$file.part"' EXIT
# Without this, a signal would leave that file.
trap 'exit 143' HUP INT TERM
# Extracts may have personal data: they are as private as the registry.
if ! said=$({ umask 077 && mkdir -p "$folder" && curl --fail --silent --show-error --location --retry 2 \
  --max-time 3600 --output "$file.part" "$url"; } 2>&1); then
  alarm 3 "$source: $url cannot be fetched: $said"
fi
mv "$file.part" "$file" || alarm 3 "$source: $file cannot be written; nothing was changed"

[ -z "$as_of" ] || set -- --as-of "$as_of" "$@"
if ! said=$("$dossier" update "$source" "$file" "$@" --dry-run 2>&1); then
  alarm 4 "$source: $file is refused; nothing was changed:
$said"
fi
if ! printf '%s\n' "$said" | grep -v -e '^dossier import ' -e '; nothing to do$' >/dev/null; then
  rm "$file"
  echo "$source: nothing new"
  exit 0
fi
if ! said=$("$dossier" update "$source" "$file" "$@" 2>&1); then
  alarm 5 "$source: the update from $file failed:
$said"
fi
printf '%s\n' "$said"
