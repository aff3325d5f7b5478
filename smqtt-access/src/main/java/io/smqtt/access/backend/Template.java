// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A text with placeholders such as <code>${username}</code>, parsed once. {@code %u} and {@code %c} stand for user name and client
 * identifier where {@link Scope} allows them. An unknown placeholder is an error: it never stays in the text. Immutable.
 */
public final class Template {

    static final String ATTRIBUTES = "client_attrs.";

    private static final String CERTIFICATE = "cert_";
    static final Set<String> CLIENT = Set.of(
            "username",
            "clientid",
            "peerhost",
            "peerport",
            "cert_subject",
            "cert_common_name",
            "cert_pem",
            "listener",
            "proto_name");
    static final Set<String> ACTION = Set.of("action", "access", "topic", "qos", "retain");

    /** Where a template is used, which decides what placeholders it may have. */
    public enum Scope {
        /** The check of a client: its values, and <code>${password}</code>. */
        USER,
        /** The rules of a client: its values. */
        RULES,
        /** The check of a topic: the values of the client, except for those of its certificate, and of the action. */
        TOPIC;

        boolean knows(String name) {
            return (CLIENT.contains(name) && (this != TOPIC || !name.startsWith(CERTIFICATE)))
                    || (name.startsWith(ATTRIBUTES) && name.length() > ATTRIBUTES.length())
                    || (this == USER && name.equals("password"))
                    || (this == TOPIC && ACTION.contains(name));
        }
    }

    /**
     * A part of a template.
     *
     * @param text fixed text, or the name of a placeholder
     * @param isPlaceholder whether it is a placeholder
     */
    public record Part(String text, boolean isPlaceholder) {}

    private final List<Part> parts;

    private Template(List<Part> parts) {
        this.parts = List.copyOf(parts);
    }

    /**
     * Parses a template with <code>${}</code> placeholders.
     *
     * @param text the text
     * @param scope decides what placeholders are known
     * @return the template
     * @throws IllegalArgumentException if a placeholder is unknown or not closed; the message continues a sentence that begins with the
     *     key
     */
    public static Template parse(String text, Scope scope) {
        return parse(text, scope, false);
    }

    /**
     * Parses a template with <code>${}</code> placeholders, {@code %u} for the user name, {@code %c} for the client identifier, and
     * {@code %%} for a percent sign.
     *
     * @param text the text
     * @param scope decides what placeholders are known
     * @return the template
     * @throws IllegalArgumentException if a placeholder is unknown or not closed
     */
    public static Template parseWithPercent(String text, Scope scope) {
        return parse(text, scope, true);
    }

    private static Template parse(String text, Scope scope, boolean percent) {
        List<Part> parts = new ArrayList<>();
        StringBuilder fixed = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            if (text.startsWith("${", i)) {
                int end = text.indexOf('}', i);
                if (end < 0) {
                    throw new IllegalArgumentException("has a placeholder without }");
                }
                add(parts, fixed, known(text.substring(i + 2, end), scope));
                i = end;
            } else if (percent && text.charAt(i) == '%' && i + 1 < text.length()) {
                switch (text.charAt(++i)) {
                    case 'u' -> add(parts, fixed, "username");
                    case 'c' -> add(parts, fixed, "clientid");
                    case '%' -> fixed.append('%');
                    default -> fixed.append(text, i - 1, i + 1);
                }
            } else {
                fixed.append(text.charAt(i));
            }
        }
        if (fixed.length() > 0) {
            parts.add(new Part(fixed.toString(), false));
        }
        return new Template(parts);
    }

    private static void add(List<Part> parts, StringBuilder fixed, String name) {
        if (fixed.length() > 0) {
            parts.add(new Part(fixed.toString(), false));
            fixed.setLength(0);
        }
        parts.add(new Part(name, true));
    }

    private static String known(String name, Scope scope) {
        if (!scope.knows(name)) {
            String reason = Scope.USER.knows(name) || Scope.TOPIC.knows(name)
                    ? " that has no value here"
                    : "; known are ${username}, ${clientid}, ${password}, ${peerhost}, ${peerport}, ${cert_subject}, "
                            + "${cert_common_name}, ${cert_pem}, ${listener}, ${proto_name} and ${client_attrs.NAME}, and for topics "
                            + "${action}, ${access}, ${topic}, ${qos} and ${retain}";
            throw new IllegalArgumentException("has the placeholder ${" + name + "}" + reason);
        }
        return name;
    }

    /**
     * The parts in order.
     *
     * @return immutable; empty for an empty text
     */
    public List<Part> parts() {
        return parts;
    }

    /**
     * Whether the text is always the same.
     *
     * @return true without placeholders
     */
    public boolean isFixed() {
        return parts.stream().noneMatch(Part::isPlaceholder);
    }

    /**
     * Whether a placeholder occurs.
     *
     * @param name its name
     * @return true if it does
     */
    public boolean uses(String name) {
        return parts.stream()
                .anyMatch(part -> part.isPlaceholder() && part.text().equals(name));
    }

    /**
     * Replaces the placeholders.
     *
     * @param values their values; an absent one becomes an empty text
     * @param escape makes a value safe for the syntax of the text; it is not applied to fixed text
     * @return the text
     */
    public String fill(TemplateValues values, UnaryOperator<String> escape) {
        StringBuilder filled = new StringBuilder();
        for (Part part : parts) {
            if (part.isPlaceholder()) {
                String value = values.value(part.text());
                filled.append(value == null ? "" : escape.apply(value));
            } else {
                filled.append(part.text());
            }
        }
        return filled.toString();
    }

    /**
     * The text with markers for bind parameters in place of the placeholders, as a statement needs it.
     *
     * @param marker the marker of the parameter with a number from 1
     * @return the text
     */
    public String statement(IntFunction<String> marker) {
        StringBuilder text = new StringBuilder();
        int number = 0;
        for (Part part : parts) {
            text.append(part.isPlaceholder() ? marker.apply(++number) : part.text());
        }
        return text.toString();
    }

    /**
     * The values of the bind parameters.
     *
     * @param values the values of the placeholders
     * @return one for each placeholder in order, null for an absent one
     */
    public List<@Nullable String> parameters(TemplateValues values) {
        List<@Nullable String> parameters = new ArrayList<>();
        for (Part part : parts) {
            if (part.isPlaceholder()) {
                parameters.add(values.value(part.text()));
            }
        }
        return parameters;
    }
}
