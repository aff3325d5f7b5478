// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.smqtt.thread.OnEventLoop;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Stops the messages of one connection that go in circles, in one direction. The user property {@code smqtt-hops} of MQTT 5.0 has the
 * brokers that a message has left by a bridge, separated by commas. The dialling broker writes it for both, if it knows the identifier of
 * the other one.
 */
@OnEventLoop
final class HopCheck {

    private static final byte[] NAME = "smqtt-hops".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NOTHING = {};

    /** The most bytes by which the length of a packet, and that of its properties, grow. */
    private static final int LENGTHS = 6;

    /** The longest identifier of a broker, in characters. Those of brokers of this kind have up to 8. */
    static final int LONGEST_ID = 64;

    private final String own;
    private final int limit;
    private final boolean leaving;
    private @Nullable String remote;
    private byte[] first;

    /**
     * Creates a check.
     *
     * @param own identifies this broker while it runs
     * @param limit the most bridges that a message passes
     * @param leaving whether messages leave this broker
     */
    HopCheck(String own, int limit, boolean leaving) {
        this.own = own;
        this.limit = limit;
        this.leaving = leaving;
        this.first = leaving ? property(own) : NOTHING;
    }

    /** Sets the identifier of the other broker. One that no broker of this kind has is ignored. */
    void remote(String id) {
        if (!isId(id)) {
            return;
        }
        remote = id;
        first = leaving ? first : property(id);
    }

    private static boolean isId(String id) {
        return !id.isEmpty() && id.length() <= LONGEST_ID && id.chars().allMatch(c -> c > ' ' && c < 0x7f && c != ',');
    }

    /**
     * The most bytes by which the property makes a packet longer.
     *
     * @param counts whether there is one
     */
    static int growth(boolean counts) {
        return counts ? property("").length + LONGEST_ID + LENGTHS : 0;
    }

    /**
     * The property of a message.
     *
     * @param start where it begins among the properties
     * @param end where it ends
     * @param path the identifiers
     */
    record Trace(int start, int end, String path) {}

    /** Looks for the property among the properties of a PUBLISH, whose indices stay; null if it has none. */
    static @Nullable Trace find(ByteBuf properties) {
        ByteBuf in = properties.duplicate();
        while (in.isReadable()) {
            int start = in.readerIndex();
            int id = in.readUnsignedByte();
            if (id != Packets.USER_PROPERTY) {
                Packets.skipProperty(in, id);
                continue;
            }
            ByteBuf name = in.readSlice(in.readUnsignedShort());
            ByteBuf value = in.readSlice(in.readUnsignedShort());
            if (ByteBufUtil.equals(name, Unpooled.wrappedBuffer(NAME))) {
                return new Trace(start, in.readerIndex(), value.toString(StandardCharsets.UTF_8));
            }
        }
        return null;
    }

    /** Whether a message goes no further: also if a client has given it a path that is longer than those of brokers, and would not fit any more. */
    boolean refuses(@Nullable Trace trace) {
        if (trace == null) {
            return false;
        }
        if (trace.path().length() >= limit * (LONGEST_ID + 1)) {
            return true;
        }
        List<String> left = List.of(trace.path().split(",", -1));
        return left.size() >= limit || left.contains(own) || leaving && remote != null && left.contains(remote);
    }

    /** The property with the broker that the message leaves; empty if that is not known. */
    byte[] next(@Nullable Trace trace) {
        String id = leaving ? own : remote;
        return trace == null ? first : id == null ? NOTHING : property(trace.path() + ',' + id);
    }

    private static byte[] property(String path) {
        byte[] value = path.getBytes(StandardCharsets.UTF_8);
        ByteBuf property = Unpooled.buffer(5 + NAME.length + value.length);
        property.writeByte(Packets.USER_PROPERTY).writeShort(NAME.length).writeBytes(NAME);
        property.writeShort(value.length).writeBytes(value);
        return property.array();
    }
}
