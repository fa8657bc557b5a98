"""How the site is built: ``python -m sphinx -W -b html docs build/site``.

Nothing is fetched, neither by the build nor by a reader's browser.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import elmband  # noqa: E402

project = "elmband"
author = "the elmband developers"
project_copyright = author
version = release = elmband.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "commands",
    "docstrings",
    "elsewhere",
    "mathml",
    "pictures",
    "rooms",
]
exclude_patterns = ["gallery", "pictures", "_ext", "recipes"]
# Quotation marks of code stay those of code.
smartquotes = False
# What stands in single backquotes is linked where it is ours, and shown as code where not.
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {
    "member-order": "bysource",
    "members": True,
    "inherited-members": True,
}
autodoc_typehints = "none"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "pydata_sphinx_theme"
html_title = "elmband"
html_static_path = ["_static"]
html_css_files = ["elmband.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
# Pages that stand alone have nothing to show at their side.
html_sidebars = {
    page: []
    for page in (
        "index",
        "tutorial",
        "method",
        "limits",
        "glossary",
        "map",
        "benchmarks",
        "contributing",
        "releasing",
        "changelog",
    )
}
html_theme_options = {
    "logo": {
        "text": "elmband",
        "image_light": "_static/favicon.svg",
        "image_dark": "_static/favicon.svg",
    },
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "back_to_top_button": False,
}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": "",
    "within_subsection_order": "pictures.Taught",
    "image_scrapers": "pictures.left_by_a_script",
    "reset_argv": "pictures.where_to_draw",
    "reset_modules": "pictures.strict_about_warnings",
    "reset_modules_order": "both",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 600,
    "write_computation_times": False,
}
