# frozen_string_literal: true

require "spec_helper"
require "json"
require "open3"
require "rbconfig"
require "tempfile"

# The session is only real when somebody else's client drives it: bunny, against a real broker. ACEMQ_TEST_BROKER is the
# program that starts one.
RSpec.describe "examples/plan_and_apply.rb" do
  around do |example|
    program = ENV.fetch("ACEMQ_TEST_BROKER") { skip "ACEMQ_TEST_BROKER names no program that starts a broker" }
    Open3.popen2(program) do |stdin, stdout, thread|
      line = stdout.gets or raise "no broker was started"
      @url = JSON.parse(line).fetch("url")
      example.run
      stdin.close
      thread.value
    end
  end

  def plan(*arguments)
    script = File.expand_path("../examples/plan_and_apply.rb", __dir__)
    output, status = Open3.capture2e(RbConfig.ruby, "-W0", "-I", File.expand_path("../lib", __dir__), script, @url, *arguments)
    [output, status.exitstatus]
  end

  it "plans, applies, finds its own work again, and refuses what differs" do
    output, status = plan
    expect(status).to eq(2)
    expect(output.lines.grep(/^  create   queue/).size).to eq(6)

    expect(plan("--apply")[1]).to eq(0)

    output, status = plan
    expect(output.lines.grep(/^  present  queue/).size).to eq(6)
    expect([output.include?("create   queue"), status]).to eq([false, 0])

    Tempfile.create(["other", ".yaml"]) do |file|
      file.write("queues: { orders.new: { type: classic }, another: {} }\n")
      file.flush
      output, status = plan(file.path, "--apply")
      expect(status).to eq(3)
      expect(output).to include("DRIFT    queue orders.new (classic)")
      expect(output).to include("nothing was declared: 1 queue differs from the broker")
      expect(plan(file.path)[0]).to include("create   queue another (quorum)")
    end
  end
end
