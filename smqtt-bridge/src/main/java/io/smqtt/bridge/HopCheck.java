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
    private static final int USER_PROPERTY = 0x26;

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

    /** Sets the identifier of the other broker. */
    void remote(String id) {
        remote = id;
        first = leaving ? first : property(id);
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
            switch (in.readUnsignedByte()) {
                case 0x01 -> in.skipBytes(1);
                case 0x02 -> in.skipBytes(4);
                case 0x03, 0x08, 0x09 -> in.skipBytes(in.readUnsignedShort());
                case 0x0b -> Packets.readVarInt(in);
                case 0x23 -> in.skipBytes(2);
                case USER_PROPERTY -> {
                    ByteBuf name = in.readSlice(in.readUnsignedShort());
                    ByteBuf value = in.readSlice(in.readUnsignedShort());
                    if (ByteBufUtil.equals(name, Unpooled.wrappedBuffer(NAME))) {
                        return new Trace(start, in.readerIndex(), value.toString(StandardCharsets.UTF_8));
                    }
                }
                default -> throw new IllegalArgumentException("an unknown property in PUBLISH");
            }
        }
        return null;
    }

    /** Whether a message goes no further. */
    boolean refuses(@Nullable Trace trace) {
        if (trace == null) {
            return false;
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
        property.writeByte(USER_PROPERTY).writeShort(NAME.length).writeBytes(NAME);
        property.writeShort(value.length).writeBytes(value);
        return property.array();
    }
}
