// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import io.smqtt.access.backend.Template;
import io.smqtt.access.backend.Template.Part;
import io.smqtt.access.backend.TemplateValues;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A statement with bind parameters in place of its placeholders. Values of clients are never part of its text. Immutable.
 *
 * @param text the text, with a {@code ?} for each parameter
 * @param names the names of the values, in the order of the parameters
 */
@AnyThread
record SqlStatement(String text, List<String> names) {

    /** Copies the names. */
    SqlStatement {
        names = List.copyOf(names);
    }

    /**
     * Reads a statement with placeholders such as <code>${username}</code>.
     *
     * @throws IllegalArgumentException with the rest of a sentence that begins with the key
     */
    static SqlStatement emqx(String text, Dialect dialect, Template.Scope scope) {
        Template template = Template.parse(text, scope);
        SqlScanner scanner = new SqlScanner(dialect);
        List<String> names = new ArrayList<>();
        for (Part part : template.parts()) {
            if (part.isPlaceholder()) {
                if (scanner.isInside()) {
                    throw new IllegalArgumentException("has ${" + part.text()
                            + "} inside of quotes or a comment; write it without, it is a bind parameter");
                }
                names.add(part.text());
            } else {
                scanner.follow(part.text(), position -> {
                    if (part.text().charAt(position) == '?') {
                        throw new IllegalArgumentException("has a ?, which would be a parameter; write ${...}");
                    }
                });
            }
        }
        return complete(template.statement(number -> "?"), names);
    }

    /**
     * Reads a statement of mosquitto-go-auth, in which parameters are {@code ?} in their order, or {@code $1}, {@code $2}.
     *
     * @param values the names of the values of the parameters
     * @throws IllegalArgumentException with the rest of a sentence that begins with the key
     */
    static SqlStatement goAuth(String text, Dialect dialect, List<String> values) {
        if (text.contains("${")) {
            throw new IllegalArgumentException("has a placeholder ${...}; style go-auth has $1 or ?");
        }
        SqlScanner scanner = new SqlScanner(dialect);
        StringBuilder statement = new StringBuilder();
        List<String> names = new ArrayList<>();
        int[] copied = {0};
        scanner.follow(text, position -> {
            int length = parameter(text, position);
            if (length > 0) {
                int number = length == 1 ? names.size() + 1 : number(text.substring(position + 1, position + length));
                if (number < 1 || number > values.size()) {
                    throw new IllegalArgumentException("has more parameters than " + values.size() + ", the "
                            + String.join(" and the ", values).replace("access", "number of the access"));
                }
                names.add(values.get(number - 1));
                statement.append(text, copied[0], position).append('?');
                copied[0] = position + length;
            }
        });
        statement.append(text, copied[0], text.length());
        return complete(statement.toString(), names);
    }

    /** The length of a parameter that begins here, or 0. */
    private static int parameter(String text, int position) {
        char c = text.charAt(position);
        if (c == '?') {
            return 1;
        }
        int end = position + 1;
        while (c == '$' && end < text.length() && Character.isDigit(text.charAt(end))) {
            end++;
        }
        return end == position + 1 ? 0 : end - position;
    }

    private static int number(String digits) {
        return digits.length() > 2 ? 0 : Integer.parseInt(digits);
    }

    private static SqlStatement complete(String text, List<String> names) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("is empty");
        }
        if (names.isEmpty()) {
            throw new IllegalArgumentException("has no parameter: it would give the same answer for all clients");
        }
        return new SqlStatement(text, names);
    }

    /** {@return whether a value occurs that only the password of a client has} */
    boolean usesPassword() {
        return names.contains("password");
    }

    /** {@return the values of the parameters; null for those that the client does not have, which no column equals} */
    List<@Nullable String> values(TemplateValues client) {
        List<@Nullable String> values = new ArrayList<>(names.size());
        for (String name : names) {
            values.add(client.value(name));
        }
        return values;
    }
}
