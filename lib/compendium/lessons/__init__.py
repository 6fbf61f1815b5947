"""The student versions of the lesson notebooks, and what keeps hidden tests out of nbgrader's feedback pages."""
