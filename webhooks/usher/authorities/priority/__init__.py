"""Priority classes: which priority pods get, and whether their class exists."""
