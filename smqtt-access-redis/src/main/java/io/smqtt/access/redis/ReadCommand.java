// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.Template;
import io.smqtt.access.backend.TemplateValues;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A command that reads a hash, as it is configured: its words are split before placeholders are replaced, so that a value stays within its
 * word. Immutable.
 */
final class ReadCommand {

    /** A word, or a text between quotes. */
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|[^\\s\"']+");

    /** The commands that can be configured. */
    enum Name {
        /** One field. */
        HGET,
        /** Several fields. */
        HMGET,
        /** All fields. */
        HGETALL
    }

    private final Name name;
    private final Template key;
    private final List<Template> fields;

    private ReadCommand(Name name, Template key, List<Template> fields) {
        this.name = name;
        this.key = key;
        this.fields = List.copyOf(fields);
    }

    /**
     * Reads a command.
     *
     * @param settings the settings
     * @param setting the key of the command
     * @param allowed the commands that are possible
     * @return the command
     * @throws io.smqtt.config.ConfigurationException if it is another command, has the wrong number of words, or a placeholder is unknown
     */
    static ReadCommand of(BackendSettings settings, String setting, Set<Name> allowed) {
        List<String> words = words(settings.text(setting));
        Name name = name(words.isEmpty() ? "" : words.get(0));
        if (words.size() < 2 || name == null || !allowed.contains(name)) {
            throw settings.problem(setting, "must be one of " + allowed + " with a key");
        }
        List<Template> templates = new ArrayList<>();
        for (String word : words.subList(1, words.size())) {
            try {
                templates.add(Template.parse(word, Template.Scope.RULES));
            } catch (IllegalArgumentException e) {
                throw settings.problem(setting, String.valueOf(e.getMessage()));
            }
        }
        int fields = templates.size() - 1;
        boolean fits = switch (name) {
            case HGETALL -> fields == 0;
            case HGET -> fields == 1;
            case HMGET -> fields >= 1;
        };
        if (!fits) {
            throw settings.problem(setting, "has the wrong number of fields for " + name);
        }
        if (templates.get(0).isFixed()) {
            throw settings.problem(setting, "has no placeholder in its key: all clients would have the same");
        }
        return new ReadCommand(name, templates.get(0), templates.subList(1, templates.size()));
    }

    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(text);
        while (matcher.find()) {
            String quoted = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
            words.add(quoted == null ? matcher.group() : quoted);
        }
        return words;
    }

    private static @Nullable Name name(String word) {
        try {
            return Name.valueOf(word.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** The names of the fields, without those that have placeholders. */
    List<String> fixedFields() {
        return fields.stream()
                .filter(Template::isFixed)
                .map(field -> field.fill(name -> null, UnaryOperator.identity()))
                .toList();
    }

    /**
     * Runs the command for a client.
     *
     * @param redis runs it
     * @param values the values of the client
     * @return the fields that exist; an empty map without them, or if a value is absent or empty
     */
    Mono<Map<String, String>> run(Redis redis, TemplateValues values) {
        String filled = filled(key, values);
        List<String> names = new ArrayList<>();
        for (Template field : fields) {
            String one = filled(field, values);
            if (one != null) {
                names.add(one);
            }
        }
        if (filled == null || names.size() != fields.size()) {
            return Mono.just(Map.of());
        }
        return name == Name.HGETALL ? redis.allFields(filled) : redis.fields(filled, names);
    }

    /** Returns null if a value is absent or empty. */
    private static @Nullable String filled(Template template, TemplateValues values) {
        return template.parameters(values).stream().anyMatch(value -> value == null || value.isEmpty())
                ? null
                : template.fill(values, UnaryOperator.identity());
    }
}
