// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.message.LogText;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** Prints JSON objects as rows of aligned columns; nothing if there are none. Texts of clients are escaped. */
final class TextTable {

    private static final int LEAST_WIDTH = 20;
    private static final String GAP = "  ";
    private static final String CUT = "..";

    private final List<Column> columns;
    private final int[] widths;
    private final int screen;
    private final PrintStream out;
    private boolean begun;

    /**
     * Creates it.
     *
     * @param columns from left to right
     * @param screen characters of a line; 0 for no limit
     * @param out where to print
     */
    TextTable(List<Column> columns, int screen, PrintStream out) {
        this.columns = columns;
        this.screen = screen;
        this.out = out;
        widths = columns.stream().mapToInt(column -> column.head().length()).toArray();
    }

    /**
     * A column.
     *
     * @param head its title
     * @param cell the text for an object
     */
    record Column(String head, Function<JsonNode, String> cell) {

        /** A column that shows a field, whose name is the title. */
        static Column of(String field) {
            return of(field.toUpperCase(Locale.ROOT).replace('_', ' '), field);
        }

        /** A column that shows a field. */
        static Column of(String head, String field) {
            return new Column(head, object -> shown(object.path(field)));
        }
    }

    /** {@return a value in one line; a hyphen for none} */
    static String shown(JsonNode value) {
        if (value.isMissingNode()
                || value.isNull()
                || value.isTextual() && value.asText().isEmpty()) {
            return "-";
        }
        return LogText.escape(value.isValueNode() ? value.asText() : value.toString());
    }

    /** Prints rows, the titles before the first. Columns become wider where later rows need it. */
    void print(Iterable<JsonNode> objects) {
        List<List<String>> rows = new ArrayList<>();
        for (JsonNode object : objects) {
            rows.add(columns.stream().map(column -> column.cell().apply(object)).toList());
        }
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        fit();
        if (!begun && !rows.isEmpty()) {
            begun = true;
            line(columns.stream().map(Column::head).toList());
        }
        rows.forEach(this::line);
    }

    /** Makes the widest columns narrower until the line fits, or none is wide; the rest is beyond the edge. */
    private void fit() {
        if (screen == 0) {
            return;
        }
        int total = GAP.length() * (widths.length - 1);
        for (int width : widths) {
            total += width;
        }
        while (total > screen) {
            int widest = 0;
            for (int i = 1; i < widths.length; i++) {
                widest = widths[i] > widths[widest] ? i : widest;
            }
            if (widths[widest] <= LEAST_WIDTH) {
                return;
            }
            widths[widest]--;
            total--;
        }
    }

    private void line(List<String> cells) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = shortened(cells.get(i), widths[i]);
            line.append(cell)
                    .append(" ".repeat(Math.max(0, widths[i] - cell.length())))
                    .append(GAP);
        }
        out.println(cut(line.toString().stripTrailing()));
    }

    /** Leaves out the middle: identifiers of devices often differ at their end. */
    private String shortened(String text, int width) {
        if (screen == 0 || text.length() <= width) {
            return text;
        }
        int tail = (width - CUT.length()) / 2;
        String end = text.substring(text.length() - tail);
        return begin(text, width - CUT.length() - tail)
                + CUT
                + (Character.isLowSurrogate(end.charAt(0)) ? end.substring(1) : end);
    }

    private String cut(String line) {
        return screen == 0 || line.length() <= screen ? line : begin(line, screen - CUT.length()) + CUT;
    }

    private static String begin(String text, int end) {
        return text.substring(0, Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end);
    }
}
