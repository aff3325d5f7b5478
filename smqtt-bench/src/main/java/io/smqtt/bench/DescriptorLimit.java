// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The limit of open files of this process. */
final class DescriptorLimit {

    /** Files other than connections: jars, event loops, reports. */
    static final int RESERVE = 128;

    private DescriptorLimit() {}

    /** @throws WrongUsage if the number of connections is too large, with the remedy */
    static void require(int connections) {
        require(connections, current("self"));
    }

    /** @throws WrongUsage if a broker on this machine cannot have that number of connections */
    static void requireOf(long brokerPid, int connections) {
        long limit = current(Long.toString(brokerPid));
        if (connections + RESERVE > limit) {
            throw new WrongUsage(connections + " connections are too many for the broker's process " + brokerPid
                    + ", which may have " + limit
                    + " open files: start it with a higher `ulimit -n`, or ask for at most "
                    + (limit - RESERVE) + " clients");
        }
    }

    /** The maximum number of connections of this process, and of a broker on this machine if it is known. */
    static int room(@Nullable Long brokerPid) {
        long limit = current("self");
        if (brokerPid != null) {
            limit = Math.min(limit, current(Long.toString(brokerPid)));
        }
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, limit - RESERVE));
    }

    /** The basis of {@link #room}, for display. */
    static String roomText(@Nullable Long brokerPid) {
        String text = "this process may have " + current("self") + " open files";
        if (brokerPid != null) {
            text += " and the broker's " + current(Long.toString(brokerPid));
        }
        return text + ", of which " + RESERVE + " are for other things";
    }

    static void require(int connections, long limit) {
        if (connections + RESERVE > limit) {
            throw new WrongUsage(connections + " connections need " + (connections + RESERVE)
                    + " open files, but this process may have " + limit + ": raise the limit with `ulimit -n "
                    + (connections + RESERVE) + "` first, or ask for at most " + (limit - RESERVE) + " clients");
        }
    }

    private static long current(String process) {
        try {
            return parse(Files.readString(Path.of("/proc", process, "limits")));
        } catch (IOException e) {
            return Long.MAX_VALUE; // not Linux, or not readable: the system reports the error later
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
