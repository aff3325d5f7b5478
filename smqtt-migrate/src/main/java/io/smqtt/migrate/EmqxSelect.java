// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The columns that a statement of EMQX makes, and templates with placeholders for them. Immutable. */
final class EmqxSelect {

    private static final Pattern SELECT = Pattern.compile("(?is)\\A\\s*(SELECT|FOREACH)\\s(.*?)\\sFROM\\s(.*)\\z");
    private static final Pattern DO = Pattern.compile("(?is)\\A.*?\\sDO\\s(.*?)(?:\\sINCASE\\s.*)?\\z");
    private static final Pattern NAMED = Pattern.compile("(?is).*\\sAS\\s+['\"]?([a-z_][a-z0-9_]*).*");
    private static final Pattern PATH = Pattern.compile("(?is)['\"]?([a-z_][a-z0-9_]*)['\"]?(?:[.\\[].*)?");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{\\.?([A-Za-z_][A-Za-z0-9_]*)([^}]{0,200})}");

    private final boolean all;
    private final Set<String> columns;
    private final String from;

    private EmqxSelect(boolean all, Set<String> columns, String from) {
        this.all = all;
        this.columns = columns;
        this.from = from;
    }

    /** Reads a statement; null if it is none. */
    static @Nullable EmqxSelect of(String sql) {
        Matcher statement = SELECT.matcher(sql);
        if (!statement.matches()) {
            return null;
        }
        String made = statement.group(2);
        if (statement.group(1).equalsIgnoreCase("FOREACH")) {
            Matcher columns = DO.matcher(made);
            made = columns.matches() ? columns.group(1) : "*";
        }
        Set<String> names = new HashSet<>();
        boolean all = false;
        for (String column : split(made)) {
            all |= column.equals("*");
            Matcher named = NAMED.matcher(column);
            Matcher path = PATH.matcher(column);
            if (named.matches()) {
                names.add(named.group(1).toLowerCase(Locale.ROOT));
            } else if (path.matches()) {
                names.add(path.group(1).toLowerCase(Locale.ROOT));
            }
        }
        return new EmqxSelect(all, names, statement.group(3));
    }

    /** The columns, which have commas between them outside of parentheses and quotes. */
    private static List<String> split(String columns) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        char quote = 0;
        int begin = 0;
        for (int i = 0; i < columns.length(); i++) {
            char c = columns.charAt(i);
            if (quote != 0) {
                quote = c == quote ? 0 : quote;
            } else if (c == '\'' || c == '"') {
                quote = c;
            } else if (c == '(' || c == '[') {
                depth++;
            } else if (c == ')' || c == ']') {
                depth--;
            } else if (c == ',' && depth == 0) {
                parts.add(columns.substring(begin, i).strip());
                begin = i + 1;
            }
        }
        parts.add(columns.substring(begin).strip());
        return parts;
    }

    /** Whether it reads what a source or a bridge of EMQX receives. */
    boolean readsSources() {
        return from.contains("$bridges/") || from.contains("$sources/");
    }

    boolean has(String column) {
        return all || columns.contains(column.toLowerCase(Locale.ROOT));
    }

    /** Whether a column is selected by its name, and not by {@code *} only. */
    boolean names(String column) {
        return columns.contains(column.toLowerCase(Locale.ROOT));
    }

    /** A template as it is written here: without a dot before a name. */
    static String template(String text) {
        return PLACEHOLDER
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(
                        "${" + found.group(1) + found.group(2).replace("'", "") + "}"));
    }

    /** Whether values can be inserted otherwise here: a placeholder of a text of JSON that is not between quotes, or is for the payload. */
    static boolean differsInJson(String template) {
        String text = template.strip();
        if (!text.startsWith("{") && !text.startsWith("[")) {
            return false;
        }
        Matcher found = PLACEHOLDER.matcher(text);
        boolean quoted = false;
        int from = 0;
        while (found.find()) {
            for (int i = from; i < found.start(); i++) {
                char c = text.charAt(i);
                if (quoted && c == '\\') {
                    i++;
                } else if (c == '"') {
                    quoted = !quoted;
                }
            }
            if (!quoted || (found.group(1).equals("payload") && found.group(2).isEmpty())) {
                return true;
            }
            from = found.end();
        }
        return false;
    }

    /** A placeholder of a template that is no column, and stops the start here; null if there is none. */
    @Nullable
    String missing(String template) {
        Matcher found = PLACEHOLDER.matcher(template);
        while (found.find()) {
            if (!has(found.group(1))) {
                return found.group(1);
            }
        }
        return null;
    }
}
