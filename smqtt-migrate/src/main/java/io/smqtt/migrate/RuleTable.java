// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The rules of one broker, in the order of the documentation. Case and hyphens are ignored. */
final class RuleTable<M> {

    private final List<Rule<M>> rules;
    private final Map<String, Rule<M>> byKey = new LinkedHashMap<>();

    RuleTable(List<Rule<M>> rules) {
        this.rules = List.copyOf(rules);
        for (Rule<M> rule : rules) {
            if (byKey.put(folded(rule.key()), rule) != null) {
                throw new IllegalStateException("two rules for " + rule.key());
            }
        }
    }

    /** Joins two lists of rules. */
    static <M> RuleTable<M> of(List<Rule<M>> first, List<Rule<M>> second) {
        List<Rule<M>> all = new ArrayList<>(first);
        all.addAll(second);
        return new RuleTable<>(all);
    }

    List<Rule<M>> rules() {
        return rules;
    }

    /** Finds the rule of a key, otherwise the one with the longest matching prefix. */
    @Nullable
    Rule<M> find(String key) {
        String folded = folded(key);
        Rule<M> exact = byKey.get(folded);
        for (int end = folded.length(); exact == null && end > 0; end--) {
            exact = byKey.get(folded.substring(0, end) + "*");
        }
        return exact;
    }

    /** Whether a key is probably a misspelt known one: one or two characters differ, are missing or are added. */
    boolean isNear(String key) {
        String folded = folded(key);
        return byKey.keySet().stream().anyMatch(known -> !known.endsWith("*") && distance(folded, known) <= 2);
    }

    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int above = row[j];
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(above, row[j - 1]));
                diagonal = above;
            }
        }
        return row[b.length()];
    }

    static String folded(String key) {
        return key.replace("-", "").toLowerCase(Locale.ROOT);
    }
}
