"""Requests that schemathesis must not send."""

import schemathesis


def texts(value):
    """Returns all texts in a value of JSON, including the keys of objects."""
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []


def is_as_long_as_counted(value):
    """Limits of names count bytes of UTF-8. A schema counts characters, so it allows names that are too long."""
    return not any(
        len(text) <= limit < len(text.encode(errors="surrogatepass")) for text in texts(value) for limit in (128, 256))


@schemathesis.hook
def filter_query(context, query):
    """Its client encodes a space in a query as a plus, which this API reads as a plus: another valid name."""
    return is_as_long_as_counted(query) and not any(" " in text for text in texts(query))


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    return is_as_long_as_counted(path_parameters)


@schemathesis.hook
def filter_body(context, body):
    return is_as_long_as_counted(body)
