// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the known key that is most similar to an unknown one. */
public final class NearestKey {

    private NearestKey() {}

    /**
     * Finds the known key with the smallest edit distance.
     *
     * @param unknown the key that does not exist
     * @param known keys, with {@code <name>} for a name that the user chooses
     * @return null if no key is similar
     */
    static @Nullable String of(String unknown, List<ConfigKey> known) {
        return among(
                unknown, known.stream().map(key -> named(key.name(), unknown)).toList());
    }

    /**
     * Finds the word with the smallest edit distance, not counting the blocks that two keys have in common. Without a similar word it
     * returns the only one that begins with the unknown word ({@code token-file} for {@code token}), or the longest one that is a prefix
     * of it ({@code dir} for {@code directory}).
     *
     * @param unknown the unknown word
     * @param known the known words
     * @return null if no word is similar
     */
    public static @Nullable String among(String unknown, Iterable<String> known) {
        String best = null;
        int bestDistance = Integer.MAX_VALUE;
        String shorter = null;
        String longer = null;
        int longerCount = 0;
        for (String candidate : known) {
            if (candidate.startsWith(unknown + "-")) {
                longer = candidate;
                longerCount++;
            }
            if (unknown.startsWith(candidate) && (shorter == null || candidate.length() > shorter.length())) {
                shorter = candidate;
            }
            int distance = distance(unknown, candidate);
            int different = unknown.length() - commonBlocks(unknown, candidate);
            if (distance < bestDistance && distance <= Math.max(3, different * 2 / 5)) {
                bestDistance = distance;
                best = candidate;
            }
        }
        if (longerCount == 1 && bestDistance > 1) {
            return longer;
        }
        return best == null ? shorter : best;
    }

    /** Length of the common prefix of two keys, up to a dot. */
    private static int commonBlocks(String a, String b) {
        int common = 0;
        for (int i = 0; i < Math.min(a.length(), b.length()) && a.charAt(i) == b.charAt(i); i++) {
            common = a.charAt(i) == '.' ? i + 1 : common;
        }
        return common;
    }

    /** Replaces the placeholder of the known key by the name that the user chose: the level at the same place. */
    private static String named(String known, String unknown) {
        int at = known.indexOf(ConfigSchema.NAME);
        if (at < 0) {
            return known;
        }
        int level = (int) known.substring(0, at).chars().filter(c -> c == '.').count();
        String[] levels = unknown.split("\\.", -1);
        return level + 1 >= levels.length ? known : known.replace(ConfigSchema.NAME, levels[level]);
    }

    private static int distance(String a, String b) {
        int[] previous = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int[] current = new int[b.length() + 1];
            current[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
            }
            previous = current;
        }
        return previous[b.length()];
    }
}
