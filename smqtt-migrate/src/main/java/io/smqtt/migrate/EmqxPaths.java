// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.nio.file.Path;

/** The files that emqx.conf names: relative to the directory above etc. {@code EMQX_ETC_DIR} is the directory of the file. */
final class EmqxPaths {

    private static final String ETC = "${EMQX_ETC_DIR}";

    private final Draft draft;
    private final Path directory;
    private final Path home;

    EmqxPaths(Draft draft, OldFile file) {
        this.draft = draft;
        this.directory = file.directory();
        Path above = directory.getParent();
        this.home = directory.endsWith("etc") && above != null ? above : directory;
    }

    /** The absolute path that a setting names. */
    String of(OldSetting setting) {
        String value = setting.value().strip();
        String path = value.startsWith(ETC) ? directory + value.substring(ETC.length()) : value;
        if (path.contains("${")) {
            draft.note(setting, Outcome.DIFFERENT, "the environment is not read; write the path itself");
        }
        return draft.path(new OldSetting(setting.key(), path, setting.where()), home);
    }

    static boolean isPem(OldSetting setting) {
        return setting.value().contains("-----BEGIN");
    }
}
