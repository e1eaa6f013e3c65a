"""Prints docs/audit.schema.json, the JSON Schema of audit documents. Run it through scripts/generate."""

import json

from usher.audit.reports import json_document


def main() -> None:
    print(json.dumps(json_document.schema(), indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
