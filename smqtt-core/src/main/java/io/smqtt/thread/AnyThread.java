// SPDX-License-Identifier: Apache-2.0
package io.smqtt.thread;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * May be called on any thread, at the same time as every other method of the object. On a type it holds for all methods that do
 * not say otherwise.
 *
 * <p>What it calls directly must not be confined to a thread, such as by {@link OnEventLoop}: the build fails there.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface AnyThread {}
