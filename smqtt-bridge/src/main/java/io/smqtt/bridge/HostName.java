// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The name of this machine, for default client identifiers. */
final class HostName {

    private static final Path KERNEL = Path.of("/proc/sys/kernel/hostname");

    private HostName() {}

    /** The name of the machine, without a look-up; {@code smqtt} if it is not known. Blocks for a file. */
    static String read() {
        try {
            return Files.exists(KERNEL) ? Files.readString(KERNEL).strip() : named(System.getenv("COMPUTERNAME"));
        } catch (IOException e) {
            return "smqtt";
        }
    }

    private static String named(@org.jspecify.annotations.Nullable String name) {
        return name == null ? "smqtt" : name;
    }
}
