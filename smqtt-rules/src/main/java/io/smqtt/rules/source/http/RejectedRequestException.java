// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.handler.codec.http.HttpResponseStatus;

/** A request that does not become a message. */
final class RejectedRequestException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient HttpResponseStatus status;

    RejectedRequestException(HttpResponseStatus status) {
        super(status.toString(), null, false, false);
        this.status = status;
    }

    HttpResponseStatus status() {
        return status;
    }
}
