// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.InfluxConfig;
import org.jspecify.annotations.Nullable;

/** Maps the metrics settings of the former smqtt. */
final class SmqttMeters {

    /** What becomes of the password. */
    static final String PASSWORD =
            "it is not written: put it into a file, and the path of that file into SMQTT_MANAGEMENT__INFLUX__PASSWORD_FILE";

    private static final long LEAST_STEP = 10;
    private static final long MOST_STEP = 3_600;

    private final SmqttKeys keys;
    private final Draft draft;

    /**
     * Creates it for one file.
     *
     * @param keys its keys
     * @param draft what is written
     */
    SmqttMeters(SmqttKeys keys, Draft draft) {
        this.keys = keys;
        this.draft = draft;
    }

    /** The old broker sent to InfluxDB only with that type, at least every ten seconds. */
    void write() {
        OldSetting type = keys.kept("meter.meterType");
        boolean on = type != null && type.value().strip().equalsIgnoreCase("INFLUXDB");
        OldSetting uri = filled("uri");
        OldSetting database = filled("db");
        OldSetting user = filled("userName");
        OldSetting password = filled("password");
        OldSetting step = filled("step");
        boolean usable = uri != null && isUrl(uri.value().strip());
        if (!on || uri == null || !usable) {
            for (OldSetting unused : new OldSetting[] {uri, database, user, password, step}) {
                if (unused != null) {
                    String why =
                            uri == null ? "there is no uri" : "the uri must begin with http:// or https:// and a host";
                    draft.note(unused, Outcome.NONE, on ? why : "meterType is not INFLUXDB in this file");
                }
            }
            return;
        }
        draft.set("management.influx.url", uri.value().strip(), uri);
        if (database != null) {
            draft.set("management.influx.database", database.value().strip(), database);
        }
        if (user != null && password != null) {
            draft.set("management.influx.user", user.value().strip(), user);
            draft.secret("management.influx.password", password.value(), password);
            draft.note(password, Outcome.DIFFERENT, "management.influx.password: " + PASSWORD);
        } else if (user != null) {
            draft.note(user, Outcome.NONE, "it has no password, so neither is sent");
        } else if (password != null) {
            draft.note(password, Outcome.NONE, "it has no userName, so neither is sent");
        }
        step(step);
    }

    private void step(@Nullable OldSetting step) {
        if (step != null) {
            try {
                long seconds = Long.parseLong(step.value().strip());
                long ours = Math.min(MOST_STEP, Math.max(LEAST_STEP, seconds));
                draft.set("management.influx.interval", ours + "s", step);
                if (seconds > MOST_STEP) {
                    draft.note(step, Outcome.DIFFERENT, "management.influx.interval: the maximum is one hour");
                }
                return;
            } catch (NumberFormatException e) {
                draft.note(step, Outcome.NONE, "it is not an integer; management.influx.interval is 10s");
            }
        }
        draft.byDefault("management.influx.interval", LEAST_STEP + "s", "the former default");
    }

    /** A key of InfluxDB; a blank one counts as missing, and is reported. */
    private @Nullable OldSetting filled(String name) {
        OldSetting setting = keys.written("meter.influxdb." + name);
        if (setting == null || !setting.value().isBlank()) {
            return setting;
        }
        draft.note(setting, Outcome.NONE, "it is blank");
        return null;
    }

    private static boolean isUrl(String text) {
        try {
            return InfluxConfig.of(text).url().equals(text);
        } catch (ConfigurationException e) {
            return false;
        }
    }
}
