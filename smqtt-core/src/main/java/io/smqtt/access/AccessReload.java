// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The result of reloading the access files.
 *
 * @param reloaded files whose new content is in force
 * @param problems one message for each file that could not be used, with file and line; its former content stays in force
 * @param warnings warnings about reloaded files
 * @param removedUsers users that were removed from the password file
 */
public record AccessReload(
        List<Path> reloaded, List<String> problems, List<String> warnings, Set<String> removedUsers) {

    /** Copies the collections. */
    public AccessReload {
        reloaded = List.copyOf(reloaded);
        problems = List.copyOf(problems);
        warnings = List.copyOf(warnings);
        removedUsers = Set.copyOf(removedUsers);
    }

    /**
     * Whether all files were reloaded.
     *
     * @return false if the former content of a file stays in force
     */
    public boolean isComplete() {
        return problems.isEmpty();
    }
}
