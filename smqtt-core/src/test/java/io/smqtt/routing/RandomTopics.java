// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import java.util.Random;

/** Topic names and filters over an alphabet so small that they overlap: empty levels, $ topics and wildcards everywhere. */
final class RandomTopics {

    private static final String[] LEVELS = {"a", "b", "", "ab", "$a", "é"};

    private final Random random;
    private final int maxLevels;
    private final int numbers;

    RandomTopics(Random random, int maxLevels) {
        this(random, maxLevels, 0);
    }

    /** Has so many numbers in the alphabet besides, for levels with many children. */
    RandomTopics(Random random, int maxLevels, int numbers) {
        this.random = random;
        this.maxLevels = maxLevels;
        this.numbers = numbers;
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
            text.append(i == 0 ? "" : "/").append(random.nextDouble() < plus ? "+" : level());
        }
        return text.toString();
    }

    private String level() {
        int number = random.nextInt(LEVELS.length + numbers);
        return number < LEVELS.length ? LEVELS[number] : String.valueOf(number);
    }
}
