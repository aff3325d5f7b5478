// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The result of reloading the access files.
 *
 * @param reloaded files whose content counts from now on
 * @param problems one message for each file that could not be used, naming file and line; what it held before still counts
 * @param warnings what an operator should know of reloaded files
 * @param removedUsers who was in the password file and is not any more
 */
public record AccessReload(
        List<Path> reloaded, List<String> problems, List<String> warnings, Set<String> removedUsers) {

    /** Copies everything. */
    public AccessReload {
        reloaded = List.copyOf(reloaded);
        problems = List.copyOf(problems);
        warnings = List.copyOf(warnings);
        removedUsers = Set.copyOf(removedUsers);
    }

    /**
     * Tells whether all files were reloaded.
     *
     * @return false if an old one was kept
     */
    public boolean isComplete() {
        return problems.isEmpty();
    }
}
