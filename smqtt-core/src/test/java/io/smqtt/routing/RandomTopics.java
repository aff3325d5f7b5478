// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import java.util.Random;

/** Topic names and filters over an alphabet so small that they overlap: empty levels, $ topics and wildcards everywhere. */
final class RandomTopics {

    private static final String[] LEVELS = {"a", "b", "", "ab", "$a", "é"};

    private final Random random;
    private final int maxLevels;

    RandomTopics(Random random, int maxLevels) {
        this.random = random;
        this.maxLevels = maxLevels;
    }

    String name() {
        String name = join(0);
        return name.isEmpty() ? "a" : name;
    }

    String filter() {
        String filter = join(0.3);
        if (random.nextInt(4) == 0) {
            filter = random.nextInt(8) == 0 ? "#" : filter + "/#";
        }
        return filter.isEmpty() ? "+" : filter;
    }

    private String join(double plus) {
        StringBuilder text = new StringBuilder();
        int levels = 1 + random.nextInt(maxLevels);
        for (int i = 0; i < levels; i++) {
            String level = random.nextDouble() < plus ? "+" : LEVELS[random.nextInt(LEVELS.length)];
            text.append(i == 0 ? "" : "/").append(level);
        }
        return text.toString();
    }
}
