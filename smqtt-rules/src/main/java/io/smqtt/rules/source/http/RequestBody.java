// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.handler.codec.http.HttpResponseStatus;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/** The body of a request, which arrives in pieces. It has its place and its room until it is given up, or its message has an answer. */
@AnyThread
final class RequestBody {

    private static final int MOST_ANNOUNCED = 8_192;

    private final RequestRoom room;
    private final long mostBytes;
    private @Nullable ByteArrayOutputStream pieces; // guarded by this
    private int size; // guarded by this
    private boolean isPlaced; // guarded by this
    private int holders = 1; // guarded by this

    /**
     * Creates the body of a request that has no place yet.
     *
     * @param announced the size that the sender announces; the first memory is sized by it, up to a limit, because it need not come
     */
    RequestBody(RequestRoom room, long mostBytes, long announced) {
        this.pieces = new ByteArrayOutputStream((int) Math.min(announced, MOST_ANNOUNCED));
        this.room = room;
        this.mostBytes = mostBytes;
    }

    /** Takes a place for the request; returns whether there is one. */
    synchronized boolean enter() {
        isPlaced = holders > 0 && room.enter();
        return isPlaced;
    }

    /**
     * Adds a piece.
     *
     * @throws RejectedRequestException if it is too large, or there is no room for it
     */
    synchronized RequestBody add(byte[] piece) {
        ByteArrayOutputStream into = pieces;
        if (holders == 0 || into == null) {
            return this; // it was given up
        }
        if (size + (long) piece.length > mostBytes) {
            throw new RejectedRequestException(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
        }
        if (!room.take(piece.length)) {
            throw new RejectedRequestException(HttpResponseStatus.SERVICE_UNAVAILABLE);
        }
        into.writeBytes(piece);
        size += piece.length;
        return this;
    }

    /** The whole body, once: it is not kept here any longer, but its room is. */
    synchronized byte[] take() {
        ByteArrayOutputStream whole = pieces;
        pieces = null;
        return whole == null ? new byte[0] : whole.toByteArray();
    }

    /** Keeps the room until a further {@link #release}. */
    synchronized void hold() {
        holders++;
    }

    /** Gives place and room back, unless the message of the body needs them. */
    synchronized void release() {
        if (--holders == 0) {
            pieces = null;
            room.leave(isPlaced, size);
        }
    }
}
