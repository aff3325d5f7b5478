// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;

/** A body that arrives in pieces. It holds its room until it is given up, or its message has an answer. */
@AnyThread
final class RequestBody {

    private final RequestRoom room;
    private final long mostBytes;
    private final ByteArrayOutputStream pieces = new ByteArrayOutputStream(); // guarded by this
    private int holders = 1; // guarded by this

    /** Creates the body of a request that has entered the room. */
    RequestBody(RequestRoom room, long mostBytes) {
        this.room = room;
        this.mostBytes = mostBytes;
    }

    /**
     * Adds a piece.
     *
     * @throws RejectedRequestException if it is too large, or there is no room for it
     */
    synchronized RequestBody add(byte[] piece) {
        if (holders == 0) {
            return this; // it was given up
        }
        if (pieces.size() + (long) piece.length > mostBytes) {
            throw new RejectedRequestException(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
        }
        if (!room.take(piece.length)) {
            throw new RejectedRequestException(HttpResponseStatus.SERVICE_UNAVAILABLE);
        }
        pieces.writeBytes(piece);
        return this;
    }

    synchronized byte[] bytes() {
        return pieces.toByteArray();
    }

    /** Keeps the room until a further {@link #release}. */
    synchronized void hold() {
        holders++;
    }

    /** Gives the room back, if nobody else holds it. */
    synchronized void release() {
        if (--holders == 0) {
            room.leave(pieces.size());
        }
    }
}
