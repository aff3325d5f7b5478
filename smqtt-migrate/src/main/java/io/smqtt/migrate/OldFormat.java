// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** The syntax of a configuration file, detected by its extension or by its lines. */
enum OldFormat {
    /** Keys with colons, nested by indentation; JSON is read in the same way. */
    YAML("YAML"),
    /** JSON, whose keys and values are in quotes. */
    JSON("JSON"),
    /** Java properties: {@code key=value}. */
    PROPERTIES("properties"),
    /** A key, a blank and a value in each line, as in mosquitto and Moquette. */
    CONF("lines with a key, a blank and a value"),
    /** Blocks in braces with the root keys of EMQX. */
    HOCON("HOCON"),
    /** None of these: XML, blocks in braces, a certificate. */
    OTHER("none of the formats that can be read");

    /** The number of lines that are examined to detect the format. */
    private static final int LINES = 1_000;

    private static final Pattern CONF_LINE = Pattern.compile("[a-z][a-z0-9_.-]*([ \\t]+[^=:{\\s].*)?");
    private static final Pattern PROPERTY_LINE = Pattern.compile("[^\\s=:{}<]+\\s*=.*");
    private static final Pattern YAML_LINE = Pattern.compile("(-\\s.*|(-\\s+)?[^\\s:=<{][^:=]*:(\\s.*)?|---.*)");

    /** The beginning of a line that only EMQX has: one of its roots, followed by a brace, a dot or an equals sign. */
    private static final Pattern EMQX_LINE = Pattern.compile(
            "(listeners|listener|authentication|authorization|mqtt|node|cluster|dashboard|log|retainer|delayed|rewrite|auto_subscribe"
                    + "|flapping_detect|bridges|connectors|actions|sources|rule_engine|sys_topics|zones|zone|broker|prometheus|gateway)"
                    + "([.][A-Za-z0-9_.-]+)?\\s*([{]|=\\s*\\S).*");

    private final String words;

    OldFormat(String words) {
        this.words = words;
    }

    /** {@return the format for display} */
    String words() {
        return words;
    }

    /** Detects the format of a file. An empty file counts as lines with a key, a blank and a value. */
    static OldFormat of(OldFile file) {
        String name = String.valueOf(file.path().getFileName()).toLowerCase(Locale.ROOT);
        if (name.endsWith(".yaml") || name.endsWith(".yml")) {
            return YAML;
        } else if (name.endsWith(".properties")) {
            return PROPERTIES;
        } else if (name.endsWith(".json")) {
            return JSON;
        } else if (name.endsWith(".hocon")) {
            return HOCON;
        }
        List<String> lines = file.text()
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && line.charAt(0) != '#')
                .limit(LINES)
                .toList();
        if (lines.isEmpty()) {
            return CONF;
        }
        char first = lines.get(0).charAt(0);
        if (first == '{' || first == '[') {
            return JSON;
        }
        long conf = count(lines, CONF_LINE);
        long properties = count(lines, PROPERTY_LINE);
        long yaml = count(lines, YAML_LINE);
        if (lines.stream().anyMatch(line -> EMQX_LINE.matcher(line).matches())) {
            return HOCON;
        }
        boolean blocks = lines.stream().anyMatch(line -> line.equals("}") || line.endsWith("{"));
        if (blocks || first == '<' || conf + properties + yaml == 0) {
            return OTHER;
        }
        return conf >= Math.max(properties, yaml) ? CONF : properties >= yaml ? PROPERTIES : YAML;
    }

    private static long count(List<String> lines, Pattern shape) {
        return lines.stream().filter(line -> shape.matcher(line).matches()).count();
    }
}
