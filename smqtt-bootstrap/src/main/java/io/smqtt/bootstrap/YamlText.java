// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.Map;
import java.util.function.UnaryOperator;

/** Flat keys as nested YAML, which reads back to the same keys. */
final class YamlText {

    private YamlText() {}

    /**
     * Writes keys.
     *
     * @param values key to text; keys of one block follow each other
     * @param origin key to the comment behind it
     * @return lines
     */
    static String of(Map<String, String> values, UnaryOperator<String> origin) {
        StringBuilder yaml = new StringBuilder();
        String[] open = {};
        for (Map.Entry<String, String> entry : values.entrySet()) {
            String[] levels = entry.getKey().split("\\.");
            int depth = common(open, levels);
            for (; depth < levels.length - 1; depth++) {
                yaml.append("  ".repeat(depth)).append(levels[depth]).append(":\n");
            }
            yaml.append("  ".repeat(depth)).append(levels[depth]).append(": ").append(scalar(entry.getValue()));
            yaml.append("  # ").append(origin.apply(entry.getKey())).append('\n');
            open = levels;
        }
        return yaml.toString();
    }

    private static int common(String[] open, String[] levels) {
        int depth = 0;
        while (depth < open.length - 1 && depth < levels.length - 1 && open[depth].equals(levels[depth])) {
            depth++;
        }
        return depth;
    }

    private static String scalar(String text) {
        boolean plain = !text.isEmpty()
                && Character.isLetterOrDigit(text.charAt(0))
                && text.chars().allMatch(c -> c < 0x7f && (Character.isLetterOrDigit(c) || "./-_%+".indexOf(c) >= 0));
        return plain ? text : '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
