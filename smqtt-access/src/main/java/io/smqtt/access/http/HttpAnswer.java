// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

/**
 * The answer of an HTTP server.
 *
 * @param status the status
 * @param contentType the content type in lower case, empty if there is none
 * @param body the body as UTF-8
 */
record HttpAnswer(int status, String contentType, String body) {

    private static final int TOO_MANY_REQUESTS = 429;

    boolean isSuccess() {
        return status >= 200 && status < 300;
    }

    /** Whether the server could not answer: it has failed, or has more requests than it takes. */
    boolean isFailure() {
        return status >= 500 || status == TOO_MANY_REQUESTS;
    }
}
