// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

/** A statement that is not valid, with the place of the mistake. */
public final class RuleSqlException extends Exception {

    private static final long serialVersionUID = 1L;
    private static final int SHOWN = 100;

    private final int line;
    private final int column;
    private final String excerpt;

    RuleSqlException(String message, String sql, int line, int column) {
        super(message, null, false, false);
        this.line = line;
        this.column = column;
        this.excerpt = excerpt(sql, line, column);
    }

    /** The line of the mistake, from 1. */
    public int line() {
        return line;
    }

    /** The column of the mistake in its line, from 1. */
    public int column() {
        return column;
    }

    /** Two lines: that of the mistake, shortened if it is long, and a caret below its column. */
    public String excerpt() {
        return excerpt;
    }

    /** Message, place and excerpt, in three lines. */
    public String text() {
        return "line " + line + ", column " + column + ": " + getMessage() + "\n" + excerpt;
    }

    private static String excerpt(String sql, int line, int column) {
        String shown = sql.lines().skip(line - 1L).findFirst().orElse("");
        int caret = Math.min(column - 1, shown.length());
        int start = caret > SHOWN - 20 ? caret - SHOWN / 2 : 0;
        int end = Math.min(shown.length(), start + SHOWN);
        String front = start > 0 ? "…" : "";
        String back = end < shown.length() ? "…" : "";
        StringBuilder text = new StringBuilder(front);
        text.append(shown, start, end).append(back).append('\n').append(" ".repeat(front.length()));
        for (int index = start; index < caret; index++) {
            text.append(shown.charAt(index) == '\t' ? '\t' : ' ');
        }
        return text.append('^').toString();
    }
}
