// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A ban. Immutable.
 *
 * @param as what is compared
 * @param who the text that is compared with, as {@link BanKind#checked} returns it
 * @param by who has made the ban
 * @param reason a text for people; may be empty
 * @param at since when
 * @param until when it ends; null for never
 */
public record Ban(
        BanKind as,
        String who,
        String by,
        String reason,
        Instant at,
        @Nullable Instant until) {

    /**
     * Whether the ban has ended.
     *
     * @param now the time
     * @return true from its end on
     */
    public boolean hasEnded(Instant now) {
        return until != null && !now.isBefore(until);
    }

    /** The identifier of the object. */
    String id() {
        return id(as, who);
    }

    static String id(BanKind as, String who) {
        return as.text() + ':' + who;
    }
}
