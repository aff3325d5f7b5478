// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Takes the reply of any command. Only whether it is an error is kept. */
final class AnyReply extends CommandOutput<byte[], byte[], Boolean> {

    AnyReply() {
        super(ByteArrayCodec.INSTANCE, Boolean.TRUE);
    }

    @Override
    public void set(@Nullable ByteBuffer bytes) {}

    @Override
    public void setSingle(@Nullable ByteBuffer bytes) {}

    @Override
    public void setBigNumber(@Nullable ByteBuffer bytes) {}

    @Override
    public void set(long number) {}

    @Override
    public void set(double number) {}

    @Override
    public void set(boolean flag) {}

    @Override
    public void multi(int count) {}
}
