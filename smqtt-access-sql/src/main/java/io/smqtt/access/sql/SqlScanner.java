// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

/**
 * Follows the text of a statement and knows whether it is inside of quotes or a comment, where a bind parameter would be part of a text:
 * the statement would silently mean something else. Not thread-safe.
 */
final class SqlScanner {

    private final Dialect dialect;
    private String text = "";
    private int at;
    private String end = "";
    private boolean backslashes;

    SqlScanner(Dialect dialect) {
        this.dialect = dialect;
    }

    /** {@return whether the text so far ends inside of quotes or a comment} */
    boolean isInside() {
        return !end.isEmpty();
    }

    /** Goes over a further piece of the statement. Returns the positions of characters that a parameter could begin with. */
    void follow(String piece, Outside outside) {
        text = piece;
        for (at = 0; at < text.length(); at++) {
            if (isInside()) {
                inside();
            } else if (!opens()) {
                outside.at(at);
            }
        }
    }

    /** Is told of characters outside of quotes and comments. */
    interface Outside {

        /** The character at a position of the piece. */
        void at(int position);
    }

    private void inside() {
        if (backslashes && text.charAt(at) == '\\') {
            at++;
        } else if (text.startsWith(end, at)) {
            at += end.length() - 1; // a doubled quote begins the next text at once
            end = "";
        }
    }

    /** Whether quotes or a comment begin here. */
    private boolean opens() {
        char c = text.charAt(at);
        switch (c) {
            case '\'' -> open("'", dialect.escapesByBackslash() || isEscapeText());
            case '"' -> open("\"", dialect.escapesByBackslash());
            case '`' -> {
                if (dialect.hasMarks()) {
                    open("`", false);
                }
            }
            case '#' -> {
                if (dialect.hasMarks()) {
                    open("\n", false);
                }
            }
            case '-' -> {
                if (text.startsWith("--", at)) {
                    open("\n", false);
                }
            }
            case '/' -> {
                if (text.startsWith("/*", at)) {
                    at++;
                    open("*/", false);
                }
            }
            case '$' -> openDollar();
            default -> {}
        }
        return isInside();
    }

    private void open(String endsWith, boolean withBackslashes) {
        end = endsWith;
        backslashes = withBackslashes;
    }

    /** {@code E'...'} of PostgreSQL. */
    private boolean isEscapeText() {
        return at > 0
                && Character.toLowerCase(text.charAt(at - 1)) == 'e'
                && (at == 1 || !Character.isLetterOrDigit(text.charAt(at - 2)));
    }

    /** {@code $$} or {@code $tag$}; {@code $1} is none. */
    private void openDollar() {
        int close = text.indexOf('$', at + 1);
        if (!dialect.hasDollarQuotes() || close < 0) {
            return;
        }
        for (int i = at + 1; i < close; i++) {
            char c = text.charAt(i);
            boolean first = i == at + 1;
            if (c != '_' && !Character.isLetter(c) && (first || !Character.isDigit(c))) {
                return;
            }
        }
        open(text.substring(at, close + 1), false);
        at = close;
    }
}
