// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.SecretMask;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** Java properties with the lines of their keys. Escapes are left to {@link Properties}, one entry at a time. */
final class OldProperties {

    private OldProperties() {}

    /** Reads all entries; a repeated key is refused. */
    static List<OldSetting> read(OldFile file) {
        List<OldSetting> settings = new ArrayList<>();
        Map<String, Integer> lines = new HashMap<>();
        StringBuilder entry = new StringBuilder();
        int first = 0;
        int line = 0;
        for (String text : file.text().lines().toList()) {
            line++;
            if (entry.isEmpty()) {
                first = line;
                if (text.isBlank() || "#!".indexOf(text.strip().charAt(0)) >= 0) {
                    continue;
                }
            }
            entry.append(text).append('\n');
            if (!continues(text)) {
                file.requireFew(settings, first);
                settings.add(parse(file, entry.toString(), first, lines));
                entry.setLength(0);
            }
        }
        if (!entry.isEmpty()) {
            settings.add(parse(file, entry.toString(), first, lines));
        }
        return settings;
    }

    /** Whether the line ends with an odd number of backslashes. */
    private static boolean continues(String line) {
        int backslashes = 0;
        while (backslashes < line.length() && line.charAt(line.length() - 1 - backslashes) == '\\') {
            backslashes++;
        }
        return backslashes % 2 == 1;
    }

    private static OldSetting parse(OldFile file, String entry, int line, Map<String, Integer> lines) {
        Properties one = new Properties();
        try {
            one.load(new StringReader(entry));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (IllegalArgumentException e) {
            throw file.problem(line, "holds a \\u that is not followed by four hexadecimal digits");
        }
        String key = one.stringPropertyNames().stream().findFirst().orElse("");
        String value = one.getProperty(key, "").strip();
        file.requireShort(key.length(), line);
        Integer before = lines.putIfAbsent(key, line);
        if (before != null) {
            String shown = value.isEmpty() ? "a line without a value" : SecretMask.key(key); // may be a secret itself
            throw file.problem(line, shown + " is given twice, first in line " + before);
        }
        return new OldSetting(key, value, file.where(line));
    }
}
