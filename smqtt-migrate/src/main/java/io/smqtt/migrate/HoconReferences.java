// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.ConfigurationException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the substitutions <code>${path}</code> of a HOCON file, which {@link HoconScan} has marked. A substitution stands for a plain value of
 * the same file; chains are short, and the number and the length of the results are limited. The environment is not read.
 */
final class HoconReferences {

    /**
     * A substitution.
     *
     * @param path the key that it stands for
     * @param optional whether it may be absent, as in <code>${?path}</code>
     * @param where file and line
     */
    record Reference(String path, boolean optional, String where) {}

    private static final char BEGIN = '\uE000';
    private static final char END = '\uE001';
    private static final Pattern MARK = Pattern.compile(BEGIN + "([0-9]{1,3})" + END);
    private static final int MAX_CHAIN = 8;
    private static final int MAX_VISITS = 10_000;
    private static final int MAX_CHARS = 64 * 1024;

    private final List<Reference> references;
    private final BitSet used = new BitSet();
    private int visits;

    HoconReferences(List<Reference> references) {
        this.references = references;
    }

    static boolean isMark(char c) {
        return c == BEGIN || c == END;
    }

    static String mark(int number) {
        return BEGIN + String.valueOf(number) + END;
    }

    static boolean has(String text) {
        return text.indexOf(BEGIN) >= 0;
    }

    /**
     * The settings without marks.
     *
     * @param settings all settings of the file
     * @param values their values by key
     * @param absent gets the settings that are left out, because an optional substitution has no value
     */
    List<OldSetting> resolve(List<OldSetting> settings, Map<String, String> values, List<OldSetting> absent) {
        List<OldSetting> resolved = new ArrayList<>();
        for (OldSetting setting : settings) {
            if (has(setting.key())) {
                throw new ConfigurationException(
                        List.of(setting.where() + ": has a substitution in the name of a key"));
            }
            String value = has(setting.value()) ? text(setting.value(), values, setting, 0) : setting.value();
            if (value == null) {
                absent.add(new OldSetting(setting.key(), "", setting.where()));
            } else {
                resolved.add(new OldSetting(setting.key(), value, setting.where()));
            }
        }
        return resolved;
    }

    /** The substitutions that the values of the file do not contain, because a later line has replaced them. */
    List<Reference> unused() {
        List<Reference> unused = new ArrayList<>();
        for (int i = used.nextClearBit(0); i < references.size(); i = used.nextClearBit(i + 1)) {
            unused.add(references.get(i));
        }
        return unused;
    }

    /** The keys that substitutions stand for. */
    Set<String> named() {
        return references.stream().map(Reference::path).collect(Collectors.toSet());
    }

    private @Nullable String text(String marked, Map<String, String> values, OldSetting in, int chain) {
        StringBuilder text = new StringBuilder();
        Matcher mark = MARK.matcher(marked);
        int from = 0;
        boolean found = false;
        while (mark.find()) {
            text.append(marked, from, mark.start());
            from = mark.end();
            int number = Integer.parseInt(mark.group(1));
            if (number >= references.size()) {
                throw new ConfigurationException(
                        List.of(in.where() + ": has a character that is used in no configuration"));
            }
            String value = value(number, values, in, chain);
            found |= value != null;
            text.append(value == null ? "" : value);
            if (text.length() > MAX_CHARS) {
                throw problem(references.get(number), "makes a text of more than 65,536 characters");
            }
        }
        text.append(marked, from, marked.length());
        return found || !text.isEmpty() ? text.toString() : null;
    }

    private @Nullable String value(int number, Map<String, String> values, OldSetting in, int chain) {
        Reference reference = references.get(number);
        used.set(number);
        if (chain >= MAX_CHAIN || ++visits > MAX_VISITS) {
            throw problem(reference, "refers to itself, or to too many others");
        }
        String value = values.get(reference.path());
        if (value != null) {
            return has(value) ? text(value, values, in, chain + 1) : value;
        }
        if (values.keySet().stream()
                .anyMatch(key -> key.startsWith(reference.path() + ".") || key.startsWith(reference.path() + "["))) {
            throw problem(reference, "is an object or a list; write it where it is used");
        }
        if (!reference.optional()) {
            throw problem(reference, "is no key of the file, and the environment is not read; write the value");
        }
        return null;
    }

    private static ConfigurationException problem(Reference reference, String what) {
        return new ConfigurationException(
                List.of(reference.where() + ": the substitution ${" + reference.path() + "} " + what));
    }
}
