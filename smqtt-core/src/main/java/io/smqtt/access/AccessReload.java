// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.nio.file.Path;
import java.util.List;

/**
 * What a reload has done.
 *
 * @param reloaded files whose content counts from now on
 * @param problems one message for each file that could not be used, naming file and line; what it held before still counts
 * @param warnings what an operator should know of reloaded files
 */
public record AccessReload(List<Path> reloaded, List<String> problems, List<String> warnings) {

    /** Copies the lists. */
    public AccessReload {
        reloaded = List.copyOf(reloaded);
        problems = List.copyOf(problems);
        warnings = List.copyOf(warnings);
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
