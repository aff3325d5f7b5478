// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How many files this process may have open. */
final class DescriptorLimit {

    /** Files other than connections: jars, event loops, reports. */
    private static final int RESERVE = 128;

    private DescriptorLimit() {}

    /** @throws WrongUsage if so many connections would be too many, saying what to do */
    static void require(int connections) {
        require(connections, current());
    }

    static void require(int connections, long limit) {
        if (connections + RESERVE > limit) {
            throw new WrongUsage(connections + " connections need " + (connections + RESERVE)
                    + " open files, but this process may have " + limit + ": raise the limit with `ulimit -n "
                    + (connections + RESERVE) + "` first, or ask for at most " + (limit - RESERVE) + " clients");
        }
    }

    private static long current() {
        try {
            return parse(Files.readString(Path.of("/proc/self/limits")));
        } catch (IOException e) {
            return Long.MAX_VALUE; // not Linux: the system will say it when it comes to that
        }
    }

    static long parse(String limits) {
        for (String line : limits.split("\n", -1)) {
            if (line.startsWith("Max open files")) {
                String soft = line.substring("Max open files".length()).trim().split(" +", -1)[0];
                return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
            }
        }
        return Long.MAX_VALUE;
    }
}
