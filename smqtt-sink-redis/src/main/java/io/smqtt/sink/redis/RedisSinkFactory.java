// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import java.util.ArrayList;
import java.util.List;

/** Makes sinks of the type {@code redis}, which send a command for each row. */
public final class RedisSinkFactory implements SinkFactory {

    private static final String COMMAND = "command";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public RedisSinkFactory() {}

    @Override
    public String type() {
        return "redis";
    }

    @Override
    public List<SinkSetting> settings() {
        List<SinkSetting> settings = new ArrayList<>(RedisServers.settings());
        settings.add(SinkSetting.template(
                        COMMAND,
                        null,
                        "the command of a row, such as `XADD readings * t ${t}`: each word is one argument; a word with spaces stands in double quotes")
                .required());
        return settings;
    }

    @Override
    public Sink open(SinkContext context) {
        CommandTemplate command = command(context);
        String name = "smqtt-rule-" + context.rule() + '-' + context.action();
        RedisServers servers =
                RedisServers.of(context.settings(), name, context.config().timeout());
        return new RedisSink(new RedisConnection(servers), command);
    }

    private static CommandTemplate command(SinkContext context) {
        try {
            return CommandTemplate.parse(context.settings().text(COMMAND), text -> context.template(COMMAND, text));
        } catch (IllegalArgumentException e) {
            throw context.settings().problem(COMMAND, String.valueOf(e.getMessage()));
        }
    }
}
