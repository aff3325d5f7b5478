// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Lines of a key, a blank and a value, as mosquitto and Moquette write them; {@code #} at the beginning is a comment. */
final class ConfLines {

    private static final Pattern KEY = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]*");

    private ConfLines() {}

    /** Reads all keys in their order, because the meaning of a key depends on earlier ones. */
    static List<OldSetting> read(OldFile file) {
        List<OldSetting> settings = new ArrayList<>();
        int line = 0;
        for (String text : file.text().lines().toList()) {
            line++;
            String entry = text.strip();
            if (entry.isEmpty() || entry.charAt(0) == '#') {
                continue;
            }
            int end = 0;
            while (end < entry.length() && entry.charAt(end) != ' ' && entry.charAt(end) != '\t') {
                end++;
            }
            file.requireShort(end, line);
            if (!KEY.matcher(entry.substring(0, end)).matches()) { // not quoted: it may be a secret
                throw file.problem(line, "is not a line with a key, a blank and a value");
            }
            file.requireFew(settings, line);
            settings.add(
                    new OldSetting(entry.substring(0, end), entry.substring(end).strip(), file.where(line)));
        }
        return settings;
    }
}
