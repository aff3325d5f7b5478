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

    /** The properties of a driver of databases: the certificate of the server is checked if EMQX does so. */
    String databaseTls(EmqxKeys keys, String block, boolean postgres) {
        if (!keys.text(block + ".ssl.enable", "false").equals("true")) {
            return "";
        }
        OldSetting authority = keys.get(block + ".ssl.cacertfile");
        boolean checks = checksServer(keys, block);
        String mode = postgres
                ? (checks ? "?sslmode=verify-full" : "?sslmode=require")
                : checks ? "?sslMode=verify-full" : "?sslMode=trust";
        if (authority == null || !checks || isPem(authority)) {
            return mode;
        }
        return mode + (postgres ? "&sslrootcert=" : "&serverSslCert=") + of(authority);
    }

    /** Whether the certificate of a server is checked there: a client of EMQX does not without the key. */
    static boolean checksServer(EmqxKeys keys, String block) {
        return keys.text(block + ".ssl.verify", "verify_none").equals("verify_peer");
    }
}
