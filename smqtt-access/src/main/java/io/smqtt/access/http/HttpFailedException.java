// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

/** An HTTP server has answered with an error, or with what cannot be understood. The message has nothing of the body. */
final class HttpFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    HttpFailedException(String message) {
        super(message, null, false, false);
    }
}
