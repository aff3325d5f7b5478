// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;

/** A management port answered, and not with success. */
final class RefusedException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String text;

    /**
     * Tells of an answer.
     *
     * @param status its status code
     * @param text its words, empty if there were none
     */
    RefusedException(int status, String text) {
        super("it answered " + status + (text.isEmpty() ? "" : ": " + text));
        this.status = status;
        this.text = text.isEmpty() ? Integer.toString(status) : text;
    }

    /** {@return its status code; 0 if nobody was asked, because no request can say it} */
    int status() {
        return status;
    }

    /** {@return its words, or the status code where there were none} */
    String text() {
        return text;
    }
}
