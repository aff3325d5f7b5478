// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.List;

/** The note about all keys of a block that has no counterpart: its first line, the number of keys, and its last line. */
final class EmqxBlockNote {

    private final String name;
    private final Outcome outcome;
    private final String advice;
    private final List<OldSetting> keys = new ArrayList<>();

    EmqxBlockNote(String name, Outcome outcome, String advice) {
        this.name = name;
        this.outcome = outcome;
        this.advice = advice;
    }

    void add(OldSetting setting) {
        keys.add(setting);
    }

    void report(Draft draft) {
        if (keys.isEmpty()) {
            return;
        }
        String last = keys.get(keys.size() - 1).where();
        String more = keys.size() == 1
                ? ""
                : " (" + keys.size() + " keys, to line " + last.substring(last.lastIndexOf(':') + 1) + ")";
        if (keys.size() == 1) {
            draft.note(keys.get(0), outcome, advice);
        } else {
            draft.note(new OldSetting(name, "", keys.get(0).where()), outcome, advice + more);
        }
    }
}
