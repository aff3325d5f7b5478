// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectFormat;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Bans as stored objects and as fields of the API, which are the same. */
final class BanFormat implements ObjectFormat<Ban> {

    private static final String FOREVER = "infinity";
    private static final int MAX_TEXT = 1_024;
    private static final long MAX_SECOND = 253_402_300_799L; // of the year 9999

    @Override
    public Ban read(String id, JsonFields fields) {
        Ban ban = read(fields, "", Instant.EPOCH);
        if (!id.equals(ban.id())) {
            throw new InvalidFieldException("the identifier is not that of the fields as and who");
        }
        return ban;
    }

    /**
     * Reads the fields of a ban.
     *
     * @param by who makes it if the fields do not say so
     * @param now since when if the fields do not say so
     */
    static Ban read(JsonFields fields, String by, Instant now) {
        BanKind as = BanKind.of(fields.text("as"));
        Instant at = time(fields, "at");
        return new Ban(
                as,
                as.checked(fields.text("who")),
                text(fields, "by", by),
                text(fields, "reason", ""),
                at == null ? now : at,
                FOREVER.equals(fields.node().path("until").textValue()) ? null : time(fields, "until"));
    }

    private static String text(JsonFields fields, String name, String missing) {
        String text = fields.textOrNull(name);
        if (text != null && text.length() > MAX_TEXT) {
            throw new InvalidFieldException("the field " + name + " has more than " + MAX_TEXT + " characters");
        }
        return text == null ? missing : text;
    }

    /** A time as RFC 3339 or in seconds since 1970; null if there is none. */
    private static @Nullable Instant time(JsonFields fields, String name) {
        if (!fields.has(name)) {
            return null;
        }
        if (fields.node().path(name).isIntegralNumber()) {
            return Instant.ofEpochSecond(fields.number(name, 0, MAX_SECOND));
        }
        try {
            Instant time = OffsetDateTime.parse(fields.text(name)).toInstant().truncatedTo(ChronoUnit.SECONDS);
            if (time.getEpochSecond() < 0 || time.getEpochSecond() > MAX_SECOND) {
                throw new InvalidFieldException("the field " + name + " is not between 1970 and 9999");
            }
            return time;
        } catch (DateTimeException e) {
            throw new InvalidFieldException(
                    "the field " + name + " must be a time such as 2030-12-31T23:59:59Z, or seconds since 1970");
        }
    }

    @Override
    public Map<String, Object> write(Ban ban) {
        return fields(ban);
    }

    /** The fields of a ban. */
    static Map<String, Object> fields(Ban ban) {
        Instant until = ban.until();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("as", ban.as().text());
        fields.put("who", ban.who());
        fields.put("by", ban.by());
        fields.put("reason", ban.reason());
        fields.put("at", ban.at().toString());
        fields.put("until", until == null ? FOREVER : until.toString());
        return fields;
    }
}
