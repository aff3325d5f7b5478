// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import java.util.function.Consumer;

/** Adds the management port to brokers that are a program: {@code management.enabled}. */
public final class AdminProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public AdminProvider() {}

    @Override
    public String name() {
        return "smqtt-admin";
    }

    @Override
    public Stage stage() {
        return Stage.MANAGEMENT;
    }

    /** An application has an actuator of its own. */
    @Override
    public boolean isForProgramsOnly() {
        return true;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return config.management().enabled();
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        AdminModule admin = AdminModule.create(config);
        return builder -> {
            builder.module(admin);
            admin.observers().forEach(builder::observer);
        };
    }

    @Override
    public void check(BrokerConfig config) {
        AdminModule.create(config);
    }
}
