from tidepool.cli import main

raise SystemExit(main())
